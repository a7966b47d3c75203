"""Makes the helpers of this folder importable, in processes of their own as well."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
