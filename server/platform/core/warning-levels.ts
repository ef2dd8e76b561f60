/** From when on `signalbox doctor` and notifications warn of the control plane's own machine. */

/** A full disk stops every write; a busy database grows by some hundred megabytes a day. */
export const LITTLE_SPACE_BYTES = 1024 ** 3;
/** ACME clients renew a 90-day certificate 30 days before it expires; this late, the renewal has failed. */
export const RENEWAL_LATE_DAYS = 14;
