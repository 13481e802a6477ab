"""The archivist SDK, unmodified, against a service: one line of JSON for each step, {"step", "ok", "error"}.

Arguments: base URL, client id and secret of an Owner, id and secret of another tenancy's Owner.
"""

import io
import json
import sys
import traceback
import uuid
from datetime import datetime, timedelta, timezone

from archivist.archivist import Archivist
from archivist.archivistpublic import ArchivistPublic
from archivist.errors import (
    ArchivistDuplicateError,
    ArchivistError,
    ArchivistNotFoundError,
)

URL, CLIENT_ID, CLIENT_SECRET, OTHER_ID, OTHER_SECRET = sys.argv[1:]
RUN = uuid.uuid4().hex
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
CONFIRMED = ("COMMITTED", "CONFIRMED", "UNEQUIVOCAL")
EVIDENCE = {"operation": "Record", "behaviour": "RecordEvidence"}

arch = Archivist(URL, (CLIENT_ID, CLIENT_SECRET), max_time=60)
other = Archivist(URL, (OTHER_ID, OTHER_SECRET), max_time=60)
public = ArchivistPublic()
made = {}


def raises(error, action):
    """True when the action ends in this error of the SDK"""
    try:
        action()
    except error:
        return True
    return False


def step(action):
    """Runs a step at once and reports it; a step that fails does not end the others"""
    try:
        action()
        report = {"step": action.__doc__, "ok": True, "error": ""}
    except Exception as error:  # pylint: disable=broad-except
        report = {
            "step": action.__doc__,
            "ok": False,
            "error": f"{error!r} {traceback.format_exc(limit=-2)}",
        }
    print(json.dumps(report), flush=True)
    return action


# ---------------------------------------------------------------- assets


@step
def _():
    """assets: create and wait for confirmation"""
    asset = arch.assets.create(
        props={"behaviours": ["RecordEvidence"], "public": False},
        attrs={
            "arc_display_name": "front door",
            "arc_display_type": "door",
            "arc_namespace": RUN,
            "colour": "red",
        },
        confirm=True,
    )
    assert asset["confirmation_status"] in CONFIRMED
    assert asset["attributes"]["arc_namespace"] == RUN
    assert asset.name == "front door" and asset.primary_image is None
    made["asset"] = asset["identity"]


@step
def _():
    """assets: read"""
    asset = arch.assets.read(made["asset"])
    assert asset["identity"] == made["asset"] and asset["tracked"] == "TRACKED"


@step
def _():
    """assets: create and wait later"""
    asset = arch.assets.create(
        attrs={"arc_display_name": "back door", "arc_namespace": RUN, "colour": "blue"}
    )
    arch.assets.wait_for_confirmation(asset["identity"])
    made["second"] = asset["identity"]


@step
def _():
    """assets: list and count by attributes and properties, in pages of one"""
    attrs = {"arc_namespace": RUN}
    props = {"tracked": "TRACKED", "proof_mechanism": "MERKLE_LOG"}
    assert arch.assets.count(attrs=attrs) == 2
    assert len(list(arch.assets.list(attrs=attrs, props=props))) == 2
    assert len(list(arch.assets.list(attrs=attrs, page_size=1))) == 2
    assert arch.assets.count(attrs={"arc_namespace": RUN, "colour": "green"}) == 0


@step
def _():
    """assets: read by signature, one, none and two"""
    attrs = {"arc_namespace": RUN}
    found = arch.assets.read_by_signature(attrs={**attrs, "colour": "red"})
    assert found["identity"] == made["asset"]
    assert raises(
        ArchivistNotFoundError,
        lambda: arch.assets.read_by_signature(attrs={**attrs, "colour": "green"}),
    )
    assert raises(
        ArchivistDuplicateError, lambda: arch.assets.read_by_signature(attrs=attrs)
    )


@step
def _():
    """assets: wait until all of a selection are confirmed"""
    assert arch.assets.wait_for_confirmed(attrs={"arc_namespace": RUN}) is True


@step
def _():
    """assets: create unless there is one"""
    data = {
        "selector": [{"attributes": ["arc_display_name", "arc_namespace"]}],
        "behaviours": ["RecordEvidence"],
        "attributes": {"arc_display_name": "garage", "arc_namespace": RUN},
    }
    first, existed = arch.assets.create_if_not_exists(data, confirm=True)
    again, existed_again = arch.assets.create_if_not_exists(data, confirm=True)
    assert (existed, existed_again) == (False, True)
    assert first["identity"] == again["identity"]


@step
def _():
    """assets: simple hash as proof mechanism"""
    asset = arch.assets.create(
        props={"proof_mechanism": "SIMPLE_HASH"},
        attrs={"arc_namespace": RUN, "colour": "grey"},
        confirm=True,
    )
    assert asset["proof_mechanism"] == "SIMPLE_HASH"


@step
def _():
    """assets: an unknown one is not found, another tenancy's neither"""
    unknown = f"assets/{uuid.uuid4()}"
    assert raises(ArchivistNotFoundError, lambda: arch.assets.read(unknown))
    assert raises(ArchivistNotFoundError, lambda: other.assets.read(made["asset"]))
    assert other.assets.count(attrs={"arc_namespace": RUN}) == 0


# ---------------------------------------------------------------- attachments


@step
def _():
    """attachments: upload, info and download"""
    attachment = arch.attachments.upload(io.BytesIO(PNG), mtype="image/png")
    assert attachment["hash"]["alg"].upper() in ("SHA256", "SHA-256")
    assert attachment["mime_type"] == "image/png" and int(attachment["size"]) == len(PNG)
    info = arch.attachments.info(attachment["identity"])
    assert info["hash"] == attachment["hash"] and "scanned_timestamp" in info
    sink = io.BytesIO()
    arch.attachments.download(attachment["identity"], sink)
    assert sink.getvalue() == PNG
    made["blob"] = attachment


@step
def _():
    """attachments: download that allows what is not scanned, and one that does not"""
    blob = made["blob"]["identity"]
    allowed = {"allow_insecure": "true"}
    arch.attachments.download(blob, io.BytesIO(), params=allowed)
    strict = {"strict": "true"}
    assert raises(
        ArchivistError,
        lambda: arch.attachments.download(blob, io.BytesIO(), params=strict),
    )


def attached(name):
    """The attribute by which an asset or event has the attachment"""
    return {
        "arc_attribute_type": "arc_attachment",
        "arc_blob_identity": made["blob"]["identity"],
        "arc_blob_hash_alg": made["blob"]["hash"]["alg"],
        "arc_blob_hash_value": made["blob"]["hash"]["value"],
        "arc_file_name": name,
        "arc_display_name": "arc_primary_image",
    }


@step
def _():
    """attachments: of an asset and of an event, by name of the blob"""
    asset = arch.assets.create(
        attrs={"arc_namespace": RUN, "arc_primary_image": attached("door.png")},
        confirm=True,
    )
    assert asset.primary_image["arc_file_name"] == "door.png"
    event = arch.events.create(
        asset["identity"], EVIDENCE, {"photo": attached("open.png")}, confirm=True
    )
    blob = made["blob"]["identity"].replace("blobs/", "attachments/")
    for holder in (asset, event):
        sink = io.BytesIO()
        arch.assetattachments.download(holder["identity"], blob, sink)
        assert sink.getvalue() == PNG
        info = arch.assetattachments.info(holder["identity"], blob)
        assert info["hash"]["value"] == made["blob"]["hash"]["value"]


# ---------------------------------------------------------------- events


@step
def _():
    """events: create with every property and wait for confirmation"""
    event = arch.events.create(
        made["asset"],
        {
            **EVIDENCE,
            "timestamp_declared": "2019-11-27T14:44:19Z",
            "principal_declared": {
                "issuer": "idp.example.com/1234",
                "subject": "phil.b",
                "display_name": "Phil",
                "email": "phil@example.com",
            },
        },
        {"arc_display_type": "open", "run": RUN, "nested": {"list": ["a", "b"]}},
        asset_attrs={"colour": "green"},
        confirm=True,
    )
    assert event["confirmation_status"] in CONFIRMED
    assert event.when == "2019-11-27T14:44:19Z" and event.who == "Phil"
    assert event["event_attributes"]["nested"] == {"list": ["a", "b"]}
    made["event"] = event["identity"]


@step
def _():
    """events: change the attributes of their asset"""
    assert arch.assets.read(made["asset"])["attributes"]["colour"] == "green"


@step
def _():
    """events: read, list and count of one asset and of all"""
    second = arch.events.create(
        made["asset"], EVIDENCE, {"arc_display_type": "close", "run": RUN}
    )
    arch.events.wait_for_confirmation(second["identity"])
    assert arch.events.read(made["event"])["identity"] == made["event"]
    assert arch.events.count(asset_id=made["asset"]) == 3
    assert len(list(arch.events.list(asset_id=made["asset"], page_size=1))) == 3
    assert arch.events.count(attrs={"run": RUN}) == 2
    assert len(list(arch.events.list(attrs={"run": RUN}))) == 2
    assert arch.events.wait_for_confirmed(
        asset_id=made["asset"], attrs={"run": RUN}
    )


@step
def _():
    """events: filter by principal, display type, time and attributes of the asset"""
    asset = made["asset"]
    props = {"principal_declared": {"email": "phil@example.com"}}
    assert len(list(arch.events.list(asset_id=asset, props=props))) == 1
    since = {"timestamp_declared_since": "2020-01-01T00:00:00Z"}
    assert arch.events.count(asset_id=asset, props=since) == 2
    assert arch.events.count(asset_id=asset, asset_attrs={"colour": "green"}) == 1
    found = arch.events.read_by_signature(
        asset_id=asset, attrs={"arc_display_type": "open", "run": RUN}
    )
    assert found["identity"] == made["event"]


@step
def _():
    """events: stop and start tracking"""
    asset = made["second"]
    for operation, tracked in (("StopTracking", "NOT_TRACKED"), ("StartTracking", "TRACKED")):
        props = {"operation": operation, "behaviour": "Builtin"}
        arch.events.create(asset, props, {"arc_display_type": operation}, confirm=True)
        assert arch.assets.read(asset)["tracked"] == tracked


@step
def _():
    """events: create from data"""
    event = arch.events.create_from_data(
        made["asset"], {**EVIDENCE, "event_attributes": {"run": RUN + "d"}}, confirm=True
    )
    assert event["asset_identity"] == made["asset"]


# ---------------------------------------------------------------- public reads


@step
def _():
    """public: asset and events by their public URLs, without a token"""
    asset = arch.assets.create(
        props={"public": True},
        attrs={"arc_namespace": RUN, "arc_primary_image": attached("p.png")},
        confirm=True,
    )
    event = arch.events.create(asset["identity"], EVIDENCE, {"public_run": RUN}, confirm=True)
    made["public"] = arch.assets.publicurl(asset["identity"])
    made["public_event"] = arch.events.publicurl(event["identity"])
    assert made["public"].startswith(URL)
    shown = public.assets.read(made["public"])
    assert shown["attributes"]["arc_namespace"] == RUN
    assert shown["identity"] == asset["identity"].replace("assets/", "publicassets/")
    shown_event = public.events.read(made["public_event"])
    assert shown_event["event_attributes"] == {"public_run": RUN}
    assert shown_event["principal_accepted"]["subject"] == ""


@step
def _():
    """public: list, count and signature of events"""
    asset = made["public"]
    assert public.events.count(asset_id=asset) == 2
    assert len(list(public.events.list(asset_id=asset, page_size=1))) == 2
    attrs = {"public_run": RUN}
    assert len(list(public.events.list(asset_id=asset, attrs=attrs))) == 1
    assert public.events.read_by_signature(asset_id=asset, attrs=attrs)


@step
def _():
    """public: attachment of a public asset"""
    blob = made["blob"]["identity"].replace("blobs/", "attachments/")
    sink = io.BytesIO()
    public.assetattachments.download(made["public"], blob, sink)
    assert sink.getvalue() == PNG
    assert public.assetattachments.info(made["public"], blob)["mime_type"] == "image/png"


@step
def _():
    """public: a private asset has no public URL"""
    assert raises(ArchivistError, lambda: arch.assets.publicurl(made["asset"]))


# ---------------------------------------------------------------- tenancies


@step
def _():
    """tenancies: public info, and a summary of the estate"""
    tenant = arch.assets.read(made["asset"])["tenant_identity"]
    shown = arch.tenancies.publicinfo(tenant)
    assert shown["identity"] == tenant.replace("tenant/", "tenancies/")
    assert "verified_domain" in shown
    arch.composite.estate_info()


@step
def _():
    """tokens: a wrong secret is refused"""
    wrong = Archivist(URL, (CLIENT_ID, "f" * 64))
    assert raises(ArchivistError, wrong.assets.count)


# ---------------------------------------------------------------- subjects


@step
def _():
    """subjects: create, read, update, list, count and delete"""
    own = arch.subjects.read("subjects/00000000-0000-0000-0000-000000000000")
    stranger = other.subjects.read("subjects/00000000-0000-0000-0000-000000000000")
    name = f"partner {RUN}"
    subject = arch.subjects.import_subject(name, stranger)
    identity = subject["identity"]
    assert arch.subjects.read(identity)["display_name"] == name
    assert own["wallet_pub_key"] != subject["wallet_pub_key"]
    assert arch.subjects.count(display_name=name) == 1
    assert [each["identity"] for each in arch.subjects.list(display_name=name)] == [identity]
    renamed = arch.subjects.update(identity, display_name=name + " renamed")
    assert renamed["display_name"] == name + " renamed"
    arch.subjects.delete(identity)
    assert raises(ArchivistNotFoundError, lambda: arch.subjects.read(identity))


@step
def _():
    """subjects: two tenancies share and confirm each other"""
    one, two = arch.subjects.share(f"theirs {RUN}", f"ours {RUN}", other)
    assert one["confirmation_status"] == two["confirmation_status"] == "CONFIRMED"


# ---------------------------------------------------------------- applications


@step
def _():
    """applications: create, read, list, update, use, regenerate and delete"""
    name = f"robot {RUN}"
    application = arch.applications.create(name, {"serial": "TL-1"})
    identity = application["identity"]
    secret = application["credentials"][0]["secret"]
    assert arch.applications.read(identity)["display_name"] == name
    assert [each["identity"] for each in arch.applications.list(display_name=name)] == [identity]
    robot = Archivist(URL, (application["client_id"], secret), max_time=60)
    own = robot.assets.create(attrs={"arc_namespace": RUN, "made_by": "robot"}, confirm=True)
    assert robot.assets.count(attrs={"arc_namespace": RUN}) == 1
    assert robot.events.count(asset_id=own["identity"]) == 1
    renamed = arch.applications.update(
        identity, display_name=name + "2", custom_claims={"serial": "TL-2"}
    )
    assert renamed["display_name"] == name + "2"
    again = arch.applications.regenerate(identity)
    fresh = again["credentials"][0]["secret"]
    assert fresh != secret
    made["robot"] = Archivist(URL, (application["client_id"], fresh), max_time=60)
    made["robot_id"] = application["client_id"]
    assert made["robot"].assets.read(own["identity"])["identity"] == own["identity"]
    other_name = arch.applications.create(f"short lived {RUN}", {})
    arch.applications.delete(other_name["identity"])
    assert raises(
        ArchivistNotFoundError, lambda: arch.applications.read(other_name["identity"])
    )


# ---------------------------------------------------------------- access policies


@step
def _():
    """access policies: give an application a part of an asset and its events"""
    kind = f"shared {RUN}"
    asset = arch.assets.create(
        attrs={"arc_display_type": kind, "arc_display_name": "shown", "secret": "hidden"},
        confirm=True,
    )["identity"]
    assert raises(ArchivistNotFoundError, lambda: made["robot"].assets.read(asset))
    policy = arch.access_policies.create(
        {"display_name": f"policy {RUN}", "description": "of a run"},
        [{"or": [f"attributes.arc_display_type={kind}"]}],
        [
            {
                "asset_attributes_read": ["arc_display_name", "arc_display_type"],
                "behaviours": ["RecordEvidence"],
                "event_arc_display_type_read": ["Open"],
                "event_arc_display_type_write": ["Open"],
                "user_attributes": [{"or": [f"subject={made['robot_id']}"]}],
            }
        ],
    )
    identity = policy["identity"]
    assert arch.access_policies.read(identity).name == f"policy {RUN}"
    assert arch.access_policies.count(display_name=f"policy {RUN}") == 1
    assert identity in [each["identity"] for each in arch.access_policies.list()]
    matching = list(arch.access_policies.list_matching_assets(identity))
    assert [each["identity"] for each in matching] == [asset]
    policies = list(arch.access_policies.list_matching_access_policies(asset))
    assert [each["identity"] for each in policies] == [identity]
    seen = made["robot"].assets.read(asset)["attributes"]
    assert seen == {"arc_display_name": "shown", "arc_display_type": kind}
    made["robot"].events.create(asset, EVIDENCE, {"arc_display_type": "Open"}, confirm=True)
    assert raises(
        ArchivistError,
        lambda: made["robot"].events.create(asset, EVIDENCE, {"arc_display_type": "Close"}),
    )
    updated = arch.access_policies.update(identity, props={"display_name": "renamed"})
    assert updated["display_name"] == "renamed"
    arch.access_policies.delete(identity)
    assert raises(ArchivistNotFoundError, lambda: made["robot"].assets.read(asset))


@step
def _():
    """access policies: share with the tenancy that is mutually known"""
    kind = f"partner {RUN}"
    asset = arch.assets.create(
        attrs={"arc_display_type": kind, "arc_display_name": "shown"}, confirm=True
    )["identity"]
    partner = next(arch.subjects.list(display_name=f"theirs {RUN}"))["identity"]
    arch.access_policies.create(
        {"display_name": f"partners {RUN}"},
        [{"or": [f"attributes.arc_display_type={kind}"]}],
        [
            {
                "asset_attributes_read": ["arc_display_name"],
                "behaviours": ["RecordEvidence"],
                "event_arc_display_type_read": ["*"],
                "include_attributes": ["arc_display_name"],
                "subjects": [partner],
            }
        ],
    )
    assert other.assets.read(asset)["attributes"] == {"arc_display_name": "shown"}


# ---------------------------------------------------------------- locations, in the versions that know them


if hasattr(type(arch), "CLIENTS") and "locations" in arch.CLIENTS:

    @step
    def _():
        """locations: create, read, list, count and use as the home of an asset"""
        data = {
            "selector": ["display_name", {"attributes": ["run"]}],
            "display_name": f"station {RUN}",
            "description": "a station",
            "latitude": 48.8809,
            "longitude": 2.3553,
            "attributes": {"run": RUN},
        }
        location, existed = arch.locations.create_if_not_exists(data)
        again, existed_again = arch.locations.create_if_not_exists(data)
        assert (existed, existed_again) == (False, True)
        assert location["identity"] == again["identity"]
        read = arch.locations.read(location["identity"])
        assert float(read["latitude"]) == 48.8809 and read.name == f"station {RUN}"
        assert arch.locations.count(attrs={"run": RUN}) == 1
        asset = arch.assets.create(
            attrs={"arc_home_location_identity": location["identity"]}, confirm=True
        )
        assert asset["attributes"]["arc_home_location_identity"] == location["identity"]


# ---------------------------------------------------------------- compliance, in the versions that know it

try:
    from archivist.compliance_policy_requests import (
        CompliancePolicyCurrentOutstanding,
        CompliancePolicyDynamicTolerance,
        CompliancePolicyPeriodOutstanding,
        CompliancePolicyRichness,
        CompliancePolicySince,
    )
except ImportError:
    sys.exit(0)

KIND = [["attributes.compliance_kind=" + RUN]]


@step
def _():
    """compliance policies: create one of each type, read, list, count and find by signature"""
    shared = {"description": "of a run", "asset_filter": KIND}
    pair = {"event_display_type": "Open", "closing_event_display_type": "Close"}
    policies = [
        CompliancePolicySince(
            display_name=f"since {RUN}",
            event_display_type="Check",
            time_period_seconds=3600,
            **shared,
        ),
        CompliancePolicyCurrentOutstanding(display_name=f"current {RUN}", **pair, **shared),
        CompliancePolicyPeriodOutstanding(
            display_name=f"period {RUN}", time_period_seconds=60, **pair, **shared
        ),
        CompliancePolicyDynamicTolerance(
            display_name=f"dynamic {RUN}",
            dynamic_window=86400,
            dynamic_variability=1.5,
            **pair,
            **shared,
        ),
        CompliancePolicyRichness(
            display_name=f"rich {RUN}",
            richness_assertions=[["radiation<7", "colour=red"]],
            **shared,
        ),
    ]
    made["policies"] = [arch.compliance_policies.create(policy) for policy in policies]
    for asked, policy in zip(policies, made["policies"]):
        assert policy["compliance_type"] == asked.compliance_type
        assert arch.compliance_policies.read(policy["identity"]).name == asked.display_name
    assert arch.compliance_policies.count() >= 5
    assert len(list(arch.compliance_policies.list(page_size=2))) >= 5
    found = arch.compliance_policies.read_by_signature(props={"display_name": f"rich {RUN}"})
    assert found["identity"] == made["policies"][4]["identity"]


@step
def _():
    """compliance: an asset passes and fails, now and at a time"""
    attrs = {"compliance_kind": RUN, "radiation": "3"}
    asset = arch.assets.create(attrs=attrs, confirm=True)["identity"]
    before = arch.compliance.compliant_at(asset)
    assert before["compliant"] is False and len(before["compliance"]) == 5
    arch.events.create(asset, EVIDENCE, {"arc_display_type": "Check"}, confirm=True)
    after = arch.compliance.compliant_at(asset, report=True)
    assert after["compliant"] is True, after
    later = (datetime.now(timezone.utc) + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert arch.compliance.compliant_at(asset, compliant_at=later)["compliant"] is False


@step
def _():
    """compliance policies: delete"""
    for policy in made["policies"]:
        arch.compliance_policies.delete(policy["identity"])
    gone = made["policies"][0]["identity"]
    assert raises(ArchivistNotFoundError, lambda: arch.compliance_policies.read(gone))
