"""The references of what a run used."""

from collections.abc import Mapping
from typing import Any

from evomix.reports.stages import counts_columns

_PRIVATE_EVOLUTION = (
    "Z. Lin, S. Gopi, J. Kulkarni, H. Nori, S. Yekhanin. Differentially Private Synthetic Data via Foundation Model "
    "APIs 1: Images. ICLR 2024."
)
_AUG_PE = (
    "C. Xie, Z. Lin, A. Backurs, S. Gopi, D. Yu, H. A. Inan, H. Nori, H. Jiang, H. Zhang, Y. T. Lee, B. Li, "
    "S. Yekhanin. Differentially Private Synthetic Data via Foundation Model APIs 2: Text. ICML 2024."
)
_TAB_PE = (
    "T. Tran, A. Backurs, Z. Lin, V. Reis, L. Xiong, S. Yekhanin. Differentially Private Synthetic Data via APIs 4: "
    "Tabular Data. 2026. https://openreview.net/forum?id=SPgqHr2jiK"
)
_PUBMIX = (
    "S. Vithana, S. Jung, H. Hu, V. R. Cadambe, F. P. Calmon, H. Jeong. Optimal Domain-Aware Privacy Mechanisms for "
    "Synthetic Data Generation. Preprint, 2026."
)
_PRIVATE_GSD = (
    "T. Liu, J. Tang, G. Vietri, Z. S. Wu. Generating Private Synthetic Data with Genetic Algorithms. ICML 2023."
)
_MST = (
    "R. McKenna, G. Miklau, D. Sheldon. Winning the NIST Contest: A Scalable and General Approach to Differentially "
    "Private Synthetic Data. Journal of Privacy and Confidentiality 11(3), 2021."
)
_AIM = (
    "R. McKenna, B. Mullins, D. Sheldon, G. Miklau. AIM: An Adaptive and Iterative Mechanism for Differentially "
    "Private Synthetic Data. PVLDB 15(11), 2022."
)
_BALLE_WANG = (
    "B. Balle, Y.-X. Wang. Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and "
    "Optimal Denoising. ICML 2018."
)
_DISCRETE_GAUSSIAN = (
    "C. L. Canonne, G. Kamath, T. Steinke. The Discrete Gaussian for Differential Privacy. NeurIPS 2020."
)
_LAPLACE = (
    "C. Dwork, F. McSherry, K. Nissim, A. Smith. Calibrating Noise to Sensitivity in Private Data Analysis. TCC 2006."
)
_COMPOSITION = "P. Kairouz, S. Oh, P. Viswanath. The Composition Theorem for Differential Privacy. ICML 2015."
_LOSS_DISTRIBUTION = (
    "V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi. Connect the Dots: Tighter Discrete Approximations of "
    "Privacy Loss Distributions. PoPETs 2022."
)
_RENYI = "I. Mironov. Rényi Differential Privacy. CSF 2017."
_FILTER = "V. Feldman, T. Zrnic. Individual Privacy Accounting via a Rényi Filter. NeurIPS 2021."
_OPENDP = "M. Gaboardi, M. Hay, S. Vadhan. A Programming Framework for OpenDP. 2020. https://opendp.org"

_BY_MECHANISM = {
    "pubmix": (_PUBMIX,),
    "linmix": (_PUBMIX,),
    "gaussian": (_BALLE_WANG, _DISCRETE_GAUSSIAN, _OPENDP),
    "laplace": (_LAPLACE, _COMPOSITION, _DISCRETE_GAUSSIAN, _OPENDP),
}

_BY_ACCOUNT = {"pld": (_LOSS_DISTRIBUTION,), "renyi": (_RENYI, _FILTER)}


def references(privacy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the references of what ran, from the content of ``privacy.json``."""
    if counts_columns(privacy):
        return (*_BY_MECHANISM["gaussian"], _MST, _AIM, _PRIVATE_GSD)
    by_modality = _AUG_PE if privacy.get("modality") == "text" else _TAB_PE
    names = str(privacy.get("mechanism")).split(",")
    used = [reference for name in names for reference in _BY_MECHANISM.get(name, ())]
    account = _BY_ACCOUNT.get(str(privacy.get("accountant")), ())
    return tuple(dict.fromkeys((*used, *account, _PRIVATE_EVOLUTION, by_modality)))


def software_citation(privacy: Mapping[str, Any]) -> str:
    """Return a line that cites evomix in the version that ran."""
    software = privacy.get("software")
    version = software.get("evomix") if isinstance(software, Mapping) else None
    return f"evomix{f' {version}' if version else ''}: differentially private synthetic data. Software."
