/** A link for one person, in the answer that showed it. */
export interface PersonalLink {
  kind: 'invitation' | 'password';
  email: string;
  url: string;
  expiresAt: string;
}
/** A right that was taken away a moment ago. */
export interface Ended {
  subjectId: string;
  title: string;
}
