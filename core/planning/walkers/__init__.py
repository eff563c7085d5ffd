"""Actors on their ways: steering, dodging, doorways, behaviours, and the engine that moves a whole cast."""
