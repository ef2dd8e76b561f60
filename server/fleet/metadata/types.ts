/** Degrees, WGS 84. */
export interface Position {
  latitude: number;
  longitude: number;
}

/** The source of a location: the site's coordinates, or the router's GPS receiver. */
export type LocationOrigin = 'site' | 'gps';

export interface Location extends Position {
  origin: LocationOrigin;
}

/** The facts of a site that apply to its routers. */
export interface SiteFacts {
  timeZone: string | null;
  position: Position | null;
}

/** docs/interface.md, metadata. */
export interface RouterMetadata {
  name: string;
  timeZone: string | null;
  boardName: string;
  model: string | null;
  hardwareBoard: boolean;
  banner: string | null;
  thumbnail: string | null;
  slug: string | null;
  lastSeenFrom: string | null;
  location: Location | null;
  tunnelAddress: string | null;
}
