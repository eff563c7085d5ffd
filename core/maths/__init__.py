"""Free functions on arrays whose batch axes lead and whose component axis is last."""
