"""An empirical lower bound on ε: the sampling code runs on a worst-case pair of neighbours made up for the purpose."""

from evomix.audit.audit import Audit, Count, Tally, audit
from evomix.audit.claim import Claim
from evomix.audit.draws import WorstCaseDraws
from evomix.audit.release import Release
from evomix.audit.votes import WorstCaseVotes

__all__ = ["Audit", "Claim", "Count", "Release", "Tally", "WorstCaseDraws", "WorstCaseVotes", "audit"]
