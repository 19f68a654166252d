"""Schedules for running a program on a batch: analysis, instruction order and slot allocation."""
