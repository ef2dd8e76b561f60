/** What has become of a group, topic, schedule or target. Published after the commit. */
export interface SettingChange {
  kind: 'created' | 'updated' | 'removed';
  teamId: string;
  id: string;
  /** Undefined for what is removed. */
  name?: string;
}

/** A silence that somebody has begun or ended; time ends them too. Published after the commit. */
export interface SilenceChange {
  kind: 'created' | 'removed';
  teamId: string;
  id: string;
}
