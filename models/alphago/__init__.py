"""AlphaGo's way on 9x9 [Silver et al. 2016], stage by stage; ../alphago9.py runs it."""
