/** A location of routers. */
export interface Site {
  id: string;
  teamId: string;
  name: string;
  /** IANA name. */
  timeZone: string | null;
  /** Degrees. */
  latitude: number | null;
  longitude: number | null;
  createdAt: number;
}

export interface NewSite {
  teamId: string;
  name: string;
  timeZone?: string | null | undefined;
  latitude?: number | null | undefined;
  longitude?: number | null | undefined;
}

/** Missing fields stay unchanged; null clears a field. */
export interface SiteChange {
  name?: string | undefined;
  timeZone?: string | null | undefined;
  latitude?: number | null | undefined;
  longitude?: number | null | undefined;
}

/** What has become of a site. Published after the commit. */
export interface SiteEvent {
  kind: 'created' | 'updated' | 'removed';
  teamId: string;
  siteId: string;
  name: string;
}

/** A new name or place of an agent. Published after the commit. */
export interface AgentUpdate {
  teamId: string;
  agentId: string;
  /** As the interface names its fields; without those that stay. */
  changed: { site_id?: string | null; name?: string };
}
