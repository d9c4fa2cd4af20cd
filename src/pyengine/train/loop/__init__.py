"""The loop of AlphaGo Zero: self-play, learner and gate as three concurrent parts."""
