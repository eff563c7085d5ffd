"""The acting language: words, tree, parser and printer of scripts."""
