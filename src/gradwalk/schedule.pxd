# Lets the compiled schedule.py call C by the names of these modules.
from gradwalk cimport ieee, native
from gradwalk cimport rules
