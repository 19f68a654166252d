"""Coefficients of the Dormand-Prince method. Do not compile this module: in C, 1 / 5 would be 0."""

from __future__ import annotations

import numpy

_STAGES = (  # per stage after the first: the time as a fraction of the step, and the weights of earlier slopes
    (1 / 5, (1 / 5,)),
    (3 / 10, (3 / 40, 9 / 40)),
    (4 / 5, (44 / 45, -56 / 15, 32 / 9)),
    (8 / 9, (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729)),
    (1.0, (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656)),
    (1.0, (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)),
)
ERROR = numpy.array([-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40])
_BETWEEN = (  # per slope: the weight of the slope in each coefficient of the interpolating polynomial
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)
PLACES = numpy.array([place for place, _ in _STAGES])
WEIGHTS = numpy.array([[*weights, *[0.0] * (6 - len(weights))] for _, weights in _STAGES]).ravel()
BETWEEN = numpy.array(_BETWEEN).ravel()
