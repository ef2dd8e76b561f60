import { isKnownDeed, words } from './words.ts';

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** ` (backup 01a2…)`, or the id alone as in `silence 01a2…: new mast`. */
const WITH_ITS_ID = / \([a-z]+ [0-9a-f-]{36}\)| [0-9a-f-]{36}/gi;

/**
 * Of what it was, as people write it: the name of the record, `device DC:A6:32:3D:B9:04`. Nothing where the sentence says it all, and no
 * ids, which are in the title. Of what is not known here, the path is all there is.
 */
export function targetOf(action: string, target: string | null, names: ReadonlyMap<string, string>): string | null {
  const mac = /^\/arp\/devices\/([0-9a-f:%]+)$/i.exec(target ?? '')?.[1];
  if (mac !== undefined) return words.device(mac.replaceAll(/%3a/gi, ':'));
  const [name] = (target?.match(ID) ?? []).flatMap((id) => names.get(id.toLowerCase()) ?? []);
  // What is no path of the interface, such as the application of a sign-in, is a name already.
  return name ?? (isKnownDeed(action) && target?.startsWith('/') ? null : target);
}

/** Which record it was is in the title, for whoever has to find it again. */
export function withoutIds(detail: string): string {
  return detail.replaceAll(WITH_ITS_ID, '');
}
