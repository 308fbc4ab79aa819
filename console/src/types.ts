// The shapes of the network's answers, as its OpenAPI document has them; only
// what the console uses.

export type Status = "pending" | "online" | "offline";
export type HotspotType = "home" | "business" | "public";
export type Tier = "standard" | "enhanced" | "premium";
export type Scope = "hotspots:write" | "hotspots:verify" | "rewards:read" | "keys:manage" | "admin";

export interface Place {
  lat: number;
  lng: number;
}

export interface Bounds {
  north: number;
  south: number;
  east: number;
  west: number;
}

export interface Pagination {
  page: number;
  per_page: number;
  total: number;
  total_pages: number;
}

export interface Key {
  id: string;
  user_id: string;
  name: string;
  scopes: Scope[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface CreatedKey extends Key {
  key: string;
}

export interface WeeklySpan {
  days: string[];
  open: string;
  close: string;
}

export interface ExceptionDay {
  date: string;
  closed?: boolean;
  open?: string;
  close?: string;
}

export interface OperatingHours {
  timezone: string;
  weekly: WeeklySpan[];
  exceptions?: ExceptionDay[];
}

export interface Settings {
  max_connections: number;
  bandwidth_limit_mbps: number;
  coverage_radius_m?: number;
  operating_hours: OperatingHours | null;
}

export interface Hotspot {
  id: string;
  name: string;
  type: HotspotType;
  status: Status;
  location: Place & { address?: string; verified: boolean; verified_at?: string };
  device: { ssid: string; mac_address: string; linked: boolean; linked_at?: string };
  settings: Settings;
  coverage_radius_m: number;
  metrics: {
    uptime_30d: number;
    connections_24h: number;
    bandwidth_used_24h_gb: number;
    performance_tier: Tier;
    signal_quality: string;
    current_load: number;
    last_seen_at: string | null;
  };
  operator_id: string;
  created_at: string;
  updated_at: string;
}

export interface HotspotSummary {
  id: string;
  name: string;
  type: HotspotType;
  location: Place & { address: string };
  distance_m: number;
  status: Status;
  coverage_radius_m: number;
  signal_quality: string;
  performance_tier: Tier;
  current_load: number;
  uptime_30d: number;
}

/** A hotspot in the list of all, which staff may see. */
export interface HotspotListed {
  id: string;
  name: string;
  type: HotspotType;
  location: Place & { address: string; verified: boolean };
  device: { linked: boolean };
  created_at: string;
  status: Status;
}

export interface CoverageItem extends Place {
  id: string;
  radius_m: number;
  status: Status;
  count?: number;
  online_count?: number;
}

export interface Coverage {
  bounds: Bounds;
  hotspot_count: number;
  coverage_area_km2: number;
  coverage_percentage: number;
  aggregated: boolean;
  hotspots: CoverageItem[];
}

export interface Simulation {
  before_km2: number;
  after_km2: number;
  added_km2: number;
}

export interface HistoryPoint {
  at: string;
  uptime: number | null;
  clients: number;
  traffic_gb: number;
  performance_tier: Tier;
}

export interface History {
  from: string;
  to: string;
  step: string;
  points: HistoryPoint[];
}

export interface Breakdown {
  availability: number;
  performance: number;
  utilization: number;
}

export interface Rewards {
  unit: string;
  period: { start: string; end: string; status: string };
  summary: { total_earned: number; pending: number; settled: number };
  breakdown: Breakdown;
  hotspots: {
    hotspot_id: string;
    name: string;
    earned: number;
    availability_score: number;
    performance_tier: Tier;
    breakdown: Breakdown;
  }[];
}

export interface RewardsMonth {
  period: string;
  total_earned: number;
  hotspot_count: number;
  avg_availability: number;
  unit: string;
}

export interface Explanation {
  date: string;
  unit: string;
  open: boolean;
  status: string;
  policy: { version: number; effective_from: string };
  facts: {
    served_minutes: number;
    expected_minutes: number;
    closed_minutes: number;
    excused_minutes: number;
    outside_minutes: number;
    traffic_bytes: number;
    performance_tier: Tier;
  };
  potential: Breakdown & { total: number };
  losses: (Breakdown & { reason: string; minutes?: number; total: number; explanation: string })[];
  earned: Breakdown & { total: number };
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
