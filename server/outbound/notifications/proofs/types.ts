/** Keyed hashes of addresses: one address is recognised wherever it is stored. */
export const ADDRESS_PURPOSE = 'notification address';

/** How an address is proved: by a code that is sent to it and typed in here, or by the link of a mail. */
export const PROOF = {
  /** A code can be used for this time, milliseconds: long enough to look into another application. */
  lifeMs: 10 * 60_000,
  /** A link in a mail: mail servers may hold back the first mail of a stranger for an hour, and people read it the next day. */
  linkLifeMs: 24 * 3_600_000,
  /** Wrong codes before it ends. With a million codes, one try in 200,000 succeeds. */
  tries: 5,
  /** Between two codes to the same address of the same owner, milliseconds: a message may take a minute. */
  pauseMs: 60_000,
  /** Codes that a team may have sent within an hour. An administrator sets up a few targets; more is an attempt to annoy. */
  perTeamAnHour: 30,
  /** Codes to one address within a day, whoever asks for them: it may be a stranger's. */
  perAddressADay: 10,
} as const;

/** Who has the address that a code proves. */
export interface ProofOwner {
  /** The team that asks. */
  teamId: string;
  /** The person whose address it is; null for a target of the team. */
  userId: string | null;
  /** The target or contact. */
  ownerId: string;
}

/** The address for which a code is made. */
export interface ProofOf extends ProofOwner {
  /** Keyed hash of the address. */
  addressKey: string;
}

/** What is left of a proof that is not used yet. */
export interface OpenProof {
  id: string;
  codeHash: string;
  addressKey: string;
  tries: number;
}
