/** Degrees, WGS 84. */
export interface Position {
  latitude: number;
  longitude: number;
}

/** Where a location was taken from: the site that people placed, or the router's own GPS receiver. */
export type LocationOrigin = 'site' | 'gps';

export interface Location extends Position {
  origin: LocationOrigin;
}

/** The part of a site that its routers take over. */
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
