import type { NotificationGroup, NotificationGroupChange } from '../../../../../client/browser.ts';
import type { WriteState } from '../../../data/use-write.ts';
import type { Names } from '../sentence.ts';

/** What the fields of one part of a group are given. */
export interface PartProps {
  group: NotificationGroup;
  names: Names;
  /** What is changed so far; the rest of the group stays as it is. */
  draft: NotificationGroupChange;
  onChange: (draft: NotificationGroupChange) => void;
  state: WriteState;
}
