// Names for what the network's OpenAPI document defines, and for what it does not:
// events, and the preview's records.
import type { components } from "../../client/typescript/src/schema";

type Schemas = components["schemas"];

export type Status = Schemas["Status"];
export type HotspotType = Schemas["Type"];
export type Scope = Schemas["Scope"];
export type Bounds = Schemas["Bounds"];
export type Pagination = Schemas["Pagination"];
export type Key = Schemas["Key"];
export type CreatedKey = Schemas["CreatedKey"];
export type OperatingHours = Schemas["OperatingHours"];
export type WeeklySpan = OperatingHours["weekly"][number];
export type ExceptionDay = NonNullable<OperatingHours["exceptions"]>[number];
export type DeletedHotspot = Schemas["DeletedHotspot"];
export type Settings = Schemas["Settings"];
export type Registration = Schemas["Registration"];
export type Hotspot = Schemas["Hotspot"];
export type HotspotSummary = Schemas["HotspotSummary"];
export type HotspotListed = Schemas["HotspotListed"];
export type Overview = Schemas["Overview"];
export type Inventory = Schemas["Inventory"];
export type Agent = Schemas["Agent"];
export type Coverage = Schemas["Coverage"];
export type Simulation = Schemas["CoverageSimulationAnswer"]["data"];
export type Estimates = Schemas["RewardsEstimateAnswer"]["data"];
export type History = Schemas["History"];
export type HistoryPoint = History["points"][number];
export type Rewards = Schemas["Rewards"];
export type RewardsDays = Schemas["RewardsDays"];
export type Statement = Schemas["Statement"];
export type RewardsMonth = Schemas["RewardsMonth"];
export type Erasure = Schemas["Erasure"];
export type NetworkSettings = Schemas["SettingsAnswer"]["data"];
export type Explanation = Schemas["Explanation"];
export type Flag = Schemas["Flag"];
export type Audit = Schemas["Audit"];
export type AuditRow = Schemas["AuditRow"];
export type Operators = Schemas["Operators"];
export type Bookkeeping = Schemas["Bookkeeping"];
export type RewardsClock = Schemas["RewardsClock"];
export type Settlement = Schemas["Settlement"];
export type Reopening = Schemas["Reopening"];
export type AdoptedPolicy = Schemas["AdoptedPolicy"];
export type PolicyTerms = Schemas["PolicyTerms"];
export type ReleasedMac = Schemas["ReleasedMac"];
export type Replay = Schemas["Replay"];
export type ReplayForm = Schemas["ReplayForm"];
export type Quota = Schemas["QuotaAnswer"]["data"];
export type Review = Schemas["Review"];
export type Neighbours = Schemas["Neighbours"];
export type Hold = Schemas["Hold"];
export type ListedOffer = Schemas["ListedOffer"];

export interface Place {
  lat: number;
  lng: number;
}

export interface NetworkEvent {
  id: number;
  type: string;
  hotspot_id?: string;
  at: string;
}

/** A record of the preview dataset. */
export interface PreviewHotspot extends Place {
  id: number;
  name: string;
  mbps: number;
  risk: "Low" | "Medium" | "High";
  owner: string;
  note: string;
  signal: string;
  network: string;
  security: string;
  uptime: string;
  rating: string;
  lastUsed?: string;
}
