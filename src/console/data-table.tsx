import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { CONSOLE_TEXTS } from './console-texts.js';
import { csvOf } from './csv.js';
import { EvidenceText } from './evidence-text.js';
import { rowNames } from './row-names.js';
import { saveFile } from './save-file.js';
import { TEXTS } from './texts.js';
import { useGrownList } from './use-grown-list.js';

const SHOWN = 50;

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** The cell as text, for the file. */
  text(row: Row): string;
  /** The cell on the page, if it is more than the text. */
  view?(row: Row): ComponentChildren;
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What makes a row this row. */
  keyOf(row: Row): string;
  /** Name of the CSV file. */
  readonly file: string;
  /** Said in place of a table without rows. */
  readonly empty: string;
  /** What can be done with a row. @param name tells it from the other rows */
  actions?(row: Row, name: string): ComponentChildren;
  /** What to call a row; it is the text of its first column if this is not said. */
  nameOf?(row: Row): string;
}

/**
 * Rows with their titles, and all of them as a CSV file. On a narrow screen each row is a list; the roles are written
 * out because a browser forgets them when a table is laid out as anything else.
 */
export function DataTable<Row>({ caption, columns, rows, keyOf, file, empty, actions, nameOf }: TableProps<Row>) {
  const [shown, setShown] = useState(SHOWN);
  const list = useRef<HTMLTableSectionElement>(null);
  const expectMore = useGrownList(list, Math.min(shown, rows.length), shown < rows.length);
  if (rows.length === 0) return <p class="hint">{empty}</p>;
  const names = actions && rowNames(rows, nameOf ?? ((row) => columns[0]?.text(row) ?? ''));
  const left = CONSOLE_TEXTS.moreRows(rows.length - shown);
  const showMore = () => {
    expectMore();
    setShown(shown + SHOWN);
  };
  return (
    <>
      {/* biome-ignore-start lint/a11y/noRedundantRoles lint/a11y/useSemanticElements: see above */}
      <table role="table" class="data">
        <caption class="unseen">{caption}</caption>
        <Titles columns={columns} hasActions={actions !== undefined} />
        <tbody ref={list} role="rowgroup">
          {rows.slice(0, shown).map((row) => (
            <tr role="row" key={keyOf(row)}>
              {columns.map(({ title, text, view, isNumber }) => (
                <td key={title} role="cell" data-title={title} class={isNumber ? 'number' : undefined}>
                  {view ? view(row) : <EvidenceText text={text(row)} />}
                </td>
              ))}
              {actions && (
                <td role="cell" class="actions">
                  {actions(row, names?.get(row) ?? '')}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/noRedundantRoles lint/a11y/useSemanticElements: see above */}
      <p class="choose">
        {shown < rows.length && (
          <button type="button" aria-label={TEXTS.ofRow(left, caption)} onClick={showMore}>
            {left}
          </button>
        )}{' '}
        <SaveTable caption={caption} columns={columns} rows={rows} file={file} />
      </p>
    </>
  );
}

interface TitlesProps {
  readonly columns: readonly { readonly title: string; readonly isNumber?: boolean }[];
  readonly hasActions: boolean;
}

function Titles({ columns, hasActions }: TitlesProps) {
  return (
    <>
      {/* biome-ignore-start lint/a11y/noRedundantRoles lint/a11y/useSemanticElements: as in the table */}
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" class={isNumber ? 'number' : undefined}>
              {title}
            </th>
          ))}
          {hasActions && (
            <th role="columnheader" scope="col">
              <span class="unseen">{CONSOLE_TEXTS.actions}</span>
            </th>
          )}
        </tr>
      </thead>
      {/* biome-ignore-end lint/a11y/noRedundantRoles lint/a11y/useSemanticElements: as in the table */}
    </>
  );
}

/** Saves all rows as a CSV file. */
function SaveTable<Row>({
  caption,
  columns,
  rows,
  file,
}: Pick<TableProps<Row>, 'caption' | 'columns' | 'rows' | 'file'>) {
  const whole = CONSOLE_TEXTS.saveTable(rows.length);
  const save = () => {
    const cells = rows.map((row) => columns.map((column) => column.text(row)));
    const titles = columns.map(({ title }) => title);
    saveFile(`${file}.csv`, new Blob([csvOf(titles, cells)], { type: 'text/csv;charset=utf-8' }));
  };
  return (
    <button type="button" class="quiet" aria-label={TEXTS.ofRow(whole, caption)} onClick={save}>
      {whole}
    </button>
  );
}
