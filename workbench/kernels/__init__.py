"""Compiled mathematics that engines share: functions of arrays, without state and without files."""
