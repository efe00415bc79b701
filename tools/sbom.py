"""The software bill of materials: every locked package, with version, licence and hashes.

    python -m tools.sbom FILE

Written in CycloneDX 1.6 from requirements.lock and the table of licences. The same lock gives the
same bytes: there is no time and no random number in it.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from tools.licences import LICENCES, shipped
from tools.locked import Entry, read_lock, read_project

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def sbom() -> dict[str, Any]:
    project = read_project()["project"]
    needed = shipped()
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    components = [_component(entry, is_shipped=entry.name in needed) for entry in read_lock()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
                "licenses": [{"expression": project["license"]}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": own, "dependsOn": sorted({component["bom-ref"] for component in components})}
        ],
    }


def _component(entry: Entry, *, is_shipped: bool) -> dict[str, Any]:
    purl = f"pkg:pypi/{entry.name}@{entry.version}"
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": entry.name,
        "version": entry.version,
        "purl": purl,
        # What only builds or tests is in nobody's installation.
        "scope": "optional" if is_shipped else "excluded",
        "licenses": [{"expression": LICENCES[entry.name]}],
    }
    # One hash for each file of the version; pip takes no file that has none of them.
    hashes = _HASH.findall(entry.text)
    found["properties"] = [{"name": "aerobee:file:sha256", "value": value} for value in hashes]
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    written = sbom()
    target.write_text(json.dumps(written, indent=2) + "\n", "utf-8")
    print(f"{target}: {len(written['components'])} packages")
