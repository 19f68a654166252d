"""How a program is run on a batch: analysis, then an order, then slots; the result is a frozen `Schedule`."""
