import type { WriteState } from '../data/use-write.ts';
import { SelectField } from './form.tsx';

interface Props {
  label: string;
  name: string;
  value: string;
  onChange: (zone: string) => void;
  /** What no choice means; without it, a zone must be chosen. */
  none?: string;
  hint?: React.ReactNode;
  state: WriteState;
}

/** One of the time zones that this browser lists; a stored one is in it, whatever the browser calls it. */
export function ZoneField({ none, ...field }: Props) {
  const zones = zonesWith(field.value).map((zone) => ({ value: zone, name: zone }));
  return <SelectField {...field} options={none === undefined ? zones : [{ value: '', name: none }, ...zones]} />;
}

export function zonesWith(chosen: string): string[] {
  return [...new Set(['UTC', ...(chosen === '' ? [] : [chosen]), ...Intl.supportedValuesOf('timeZone')])];
}
