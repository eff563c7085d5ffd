"""Actions as tables: signals, puppet, groups that compete, compositing, and the stock that comes with Troupe."""
