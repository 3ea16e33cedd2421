"""RDKit, the part of it that is used here. It is imported when structures are first compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

from eagle_rag_biomed.chemistry.notations import INCHI, INCHIKEY
from eagle_rag_biomed.chemistry.smiles import read_smiles
from eagle_rag_core.errors import EagleError, ErrorCode

#: Morgan fingerprints (Rogers and Hahn, J. Chem. Inf. Model. 50, 2010) of radius 2: what is called
#: ECFP4.
_RADIUS: Final = 2
_BITS: Final = 2048
#: Structures kept read; each takes some 2 KB.
_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Structure:
    """A molecule.

    :param key: the same for all notations of it: its standard InChIKey, or where InChI cannot
        describe it ``smiles``.
    :param smiles: canonical; "" when only the key is known.
    :param fingerprint: None when only the key is known.
    """

    key: str
    smiles: str
    fingerprint: Any = field(default=None, repr=False, compare=False)

    @property
    def inchikey(self) -> str:
        """Its standard InChIKey; "" where InChI cannot describe it."""
        return self.key if INCHIKEY.fullmatch(self.key) else ""


class Toolkit:
    """Reads and compares structures.

    :raises EagleError: ``MODE_UNAVAILABLE``: RDKit is not installed.
    """

    def __init__(self) -> None:
        try:
            from rdkit import Chem, DataStructs, RDLogger
            from rdkit.Chem import inchi, rdFingerprintGenerator
        except ImportError:
            raise EagleError(
                "Structures are compared by RDKit, which is not installed here: "
                "pip install 'eagle-rag-biomed[chem]', then start the server again.",
                code=ErrorCode.MODE_UNAVAILABLE,
            ) from None
        # It writes to the process's own streams, of which standard output carries the protocol.
        logger: Any = RDLogger
        logger.DisableLog("rdApp.*")
        self._chem: Any = Chem
        self._inchi: Any = inchi
        self._compare: Any = DataStructs.BulkTanimotoSimilarity
        self._generator: Any = rdFingerprintGenerator.GetMorganGenerator(
            radius=_RADIUS, fpSize=_BITS
        )
        self.structure = lru_cache(maxsize=_REMEMBERED)(self._structure)

    def _structure(self, notation: str) -> Structure | None:
        """The molecule of a SMILES, InChI, InChIKey or molfile; None where it is none."""
        if INCHIKEY.fullmatch(notation):
            return Structure(notation, "")
        molecule = self._molecule(notation)
        if molecule is None or not molecule.GetNumAtoms():
            return None
        smiles = self._chem.MolToSmiles(molecule)
        return Structure(
            self._inchi.MolToInchiKey(molecule) or smiles,
            smiles,
            self._generator.GetFingerprint(molecule),
        )

    def _molecule(self, notation: str) -> Any:
        if INCHI.fullmatch(notation):
            return self._chem.MolFromInchi(notation)
        if "\n" in notation:
            return self._chem.MolFromMolBlock(notation)
        if read_smiles(notation).problem:
            return None
        return self._chem.MolFromSmiles(notation)

    def similarities(self, structure: Structure, others: Sequence[Structure]) -> list[float]:
        """Tanimoto coefficient of ``structure`` and each of ``others``, 0..1.

        One molecule under two keys' notations is 1; of keys alone nothing else is known.
        """
        if structure.fingerprint is None:
            return [float(other.key == structure.key) for other in others]
        drawn = [n for n, other in enumerate(others) if other.fingerprint is not None]
        found = [0.0] * len(others)
        fingerprints = [others[n].fingerprint for n in drawn]
        for number, value in zip(
            drawn, self._compare(structure.fingerprint, fingerprints), strict=True
        ):
            found[number] = value
        return [
            1.0 if other.key == structure.key else value
            for value, other in zip(found, others, strict=True)
        ]


@cache
def toolkit() -> Toolkit:
    """The process's toolkit.

    :raises EagleError: ``MODE_UNAVAILABLE``: RDKit is not installed.
    """
    return Toolkit()
