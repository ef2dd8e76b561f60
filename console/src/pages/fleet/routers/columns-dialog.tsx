import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField } from '../../../parts/form.tsx';
import { OPTIONAL, colsOf, columnsOf } from './columns.ts';
import type { RoutersSearch } from './search.ts';
import { words } from './words.ts';

interface Props {
  search: RoutersSearch;
  onChange: (change: Pick<RoutersSearch, 'cols' | 'rows'>) => void;
  onClose: () => void;
}

/** Which columns the list has, and how much air. Both are in the address, so a saved view keeps them. */
export function ColumnsDialog({ search, onChange, onClose }: Props) {
  const shown = columnsOf(search.cols).map(({ key }) => key as string);
  const toggle = (key: string, isShown: boolean): void =>
    onChange({ cols: colsOf(isShown ? [...shown, key] : shown.filter((name) => name !== key)) });
  return (
    <Dialog title={words.columnsDialog.title} isForAll onClose={onClose}>
      {OPTIONAL.map(({ key, title }) => (
        <CheckField key={key} label={title} isChecked={shown.includes(key)} onChange={(isShown) => toggle(key, isShown)} />
      ))}
      <CheckField
        label={words.columnsDialog.high}
        isChecked={search.rows === 'tall'}
        onChange={(isTall) => onChange({ rows: isTall ? 'tall' : undefined })}
      />
      <div className="form-acts">
        <button type="button" className="btn main-act" onClick={onClose}>
          {words.columnsDialog.done}
        </button>
      </div>
    </Dialog>
  );
}
