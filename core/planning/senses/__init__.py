"""What an actor sees, remembers and believes, and finding the way in a world known only as far as it was seen."""
