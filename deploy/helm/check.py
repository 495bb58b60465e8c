#!/usr/bin/env python3
"""Renders the chart with each file of tests/ and looks at what comes out.

    python3 -m venv /tmp/helm && /tmp/helm/bin/pip install helm-python-sdk kubernetes-validate
    /tmp/helm/bin/python deploy/helm/check.py

Helm's own engine renders; kubernetes-validate brings the schemas of Kubernetes. Nothing is asked over the network.
"""

import sys
import tomllib
from pathlib import Path

import helm_python
import kubernetes_validate
import yaml

FOLDER = Path(__file__).resolve().parent
CHART = FOLDER / "intent-gateway"
KUBERNETES = ["1.27", "1.33", "1.37"]
# What the schema has to refuse.
REFUSED = [
    {"store": {"kind": "sqlite"}},
    {"store": {"kind": "sqlite"}, "replicas": 1, "autoscaling": {"enabled": True}},
    {"store": {"kind": "mysql"}},
    {"replicas": 0},
    {"replica": 2},
    {"secrets": {"name": "a", "extra": [{"key": "mail-password", "setting": "mail.password"}]}},
    {"image": {"repository": "a", "digest": "latest"}},
]


def render(chart, values):
    """The documents by kind and name."""
    found = {}
    for text in chart.render(values, name="release", namespace="gateways").values():
        for document in yaml.safe_load_all(text) if "apiVersion" in text else []:
            if document:
                key = (document["kind"], document["metadata"]["name"])
                assert key not in found, f"{key} is there twice"
                found[key] = document
    return found


def look(name, documents):
    """What holds for every rendering."""
    kinds = {kind for kind, _ in documents}
    (deployment,) = [document for (kind, _), document in documents.items() if kind == "Deployment"]
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    env = {entry["name"]: entry.get("value") for entry in container["env"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in spec["volumes"]}

    # What Pod Security calls restricted.
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False
    assert spec["terminationGracePeriodSeconds"] > 8 + 45, "the drain is longer"
    assert container["livenessProbe"]["httpGet"]["path"] == "/live" and container["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert mounts.keys() == volumes.keys(), "every volume is mounted"
    assert env["INTENT_GATEWAY__STATE_DIR"] == mounts["state"]
    for variable, value in env.items():
        if variable.endswith("_FILE"):
            assert value.startswith(mounts["secrets"] + "/"), f"{variable} is none of the Secret's"
    selector = deployment["spec"]["selector"]["matchLabels"]
    assert selector.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    for (kind, _), document in documents.items():
        if kind == "Service":
            assert document["spec"]["selector"] == selector
            ports = {port["name"] for port in container["ports"]}
            assert all(port["targetPort"] in ports for port in document["spec"]["ports"])
    # The configuration is TOML, and has nothing that the chart sets.
    (config,) = [document for (kind, _), document in documents.items() if kind == "ConfigMap"]
    settings = tomllib.loads(config["data"]["gateway.toml"])
    assert "listen" not in settings.get("server", {}) and "state_dir" not in settings

    if name == "sqlite":
        assert deployment["spec"]["replicas"] == 1 and deployment["spec"]["strategy"] == {"type": "Recreate"}
        assert "persistentVolumeClaim" in volumes["state"] and "PersistentVolumeClaim" in kinds
        assert "PodDisruptionBudget" not in kinds, "it would block every drain of a node"
        assert "INTENT_GATEWAY__STORE__URL_FILE" not in env
    else:
        assert "emptyDir" in volumes["state"] and "PersistentVolumeClaim" not in kinds
        assert env["INTENT_GATEWAY__STORE__URL_FILE"] == "/run/secrets/intent-gateway/store-url"
    if name == "postgres":
        assert deployment["spec"]["replicas"] == 2
        assert kinds == {"Deployment", "ConfigMap", "Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"}
        (policy,) = [document for (kind, _), document in documents.items() if kind == "NetworkPolicy"]
        assert all(rule.get("from") for rule in policy["spec"]["ingress"]) and all(rule.get("to") for rule in policy["spec"]["egress"])
        assert {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]} == {53, 5432, 443, 587}
    if name == "everything":
        assert "replicas" not in deployment["spec"] and {"HorizontalPodAutoscaler", "ServiceMonitor"} <= kinds
        assert env["INTENT_GATEWAY__MAIL__PASSWORD_FILE"] == "/run/secrets/intent-gateway/mail-password"
        assert container["image"].endswith("0" * 64)
    if name == "bare":
        assert kinds == {"Deployment", "ConfigMap", "Service"} and spec["serviceAccountName"] == "somebody"
        assert "INTENT_GATEWAY__TELEMETRY__METRICS_ADDRESS" not in env


def main():
    chart = helm_python.Chart.load(str(CHART))
    for file in sorted((FOLDER / "tests").glob("*.yaml")):
        values = yaml.safe_load(file.read_text())
        chart.validate_schema(values)
        documents = render(chart, values)
        look(file.stem, documents)
        for (kind, name), document in documents.items():
            if document["apiVersion"].startswith("monitoring.coreos.com"):
                continue
            for version in KUBERNETES:
                kubernetes_validate.validate(document, version, strict=True)
        print(f"ok     {file.stem}: {len(documents)} documents, Kubernetes {', '.join(KUBERNETES)}")
    for values in REFUSED:
        try:
            chart.validate_schema(values)
        except helm_python.HelmError:
            continue
        sys.exit(f"the schema takes {values}")
    print(f"ok     {len(REFUSED)} sets of values are refused")
    # 2 is a warning, 3 an error.
    grave = [message for message in helm_python.lint(str(CHART), strict=True)["messages"] if message["severity"] >= 2]
    if grave:
        sys.exit(f"helm lint: {grave}")
    print("ok     helm lint")


if __name__ == "__main__":
    main()
