"""The stages of the AlphaGo pipeline on 9x9 [Silver et al. 2016], run by ../alphago9.py."""
