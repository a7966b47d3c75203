"""How votes become releasable: one mechanism, one file, one proof."""
