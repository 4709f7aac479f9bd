"""The crowd platforms that ship with evalsite, a folder each. `Campaign.crowd_platform` is the one of a campaign."""

from campaigns.contracts.platform import CrowdPlatform
from evalsite.lib.plugins import Registry

platforms: Registry[type[CrowdPlatform]] = Registry("platform", "EVALSITE_PLATFORMS")
