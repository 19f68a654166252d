from gradwalk.engine import *
from gradwalk.engine import Value
