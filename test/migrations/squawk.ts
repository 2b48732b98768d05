import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import type { PlannedFile, PlannedStep } from '../../src/migrations/plan/planned.js'

/*
 * Squawk finds statements of PostgreSQL that lock a table, or break versions of the program that still run.
 */

/** The program itself: `.bin/squawk` starts a second process of Node.js first. */
const program = createRequire(import.meta.resolve('squawk-cli/package.json')).resolve(
  `@squawk-cli/${process.platform}-${process.arch}/bin/squawk${process.platform === 'win32' ? '.exe' : ''}`,
)

/** A finding of squawk. */
export interface Finding {
  readonly rule: string
  /** The step with the statement. */
  readonly step: PlannedStep | undefined
  readonly text: string
}

/** Rules about the types that the models choose, and that Sequelize writes. */
const OF_MODELS = [
  'prefer-text-field',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-identity',
  'prefer-timestamp-tz',
]

interface Reported {
  readonly rule_name: string
  readonly line: number
  readonly message: string
}

/** The SQL of a file as it is executed, with the step of each line. */
function sqlOf({ steps }: PlannedFile): { readonly sql: string; readonly lines: readonly (PlannedStep | undefined)[] } {
  const lines: [string, PlannedStep | undefined][] = [
    [`SET lock_timeout = '2s';`, undefined],
    [`SET statement_timeout = '0s';`, undefined],
  ]
  let isOpen = false
  for (const step of steps) {
    const isTogether = step.code.kind === 'sql'
    if (step.isApart === true) lines.push(['COMMIT;', undefined], ['BEGIN;', undefined])
    if (isTogether !== isOpen) lines.push([isTogether ? 'BEGIN;' : 'COMMIT;', undefined])
    isOpen = isTogether
    for (const line of `${step.code.sql};`.split('\n')) lines.push([line, step])
  }
  if (isOpen) lines.push(['COMMIT;', undefined])
  return { sql: lines.map(([line]) => line).join('\n'), lines: lines.map(([, step]) => step) }
}

/** What squawk finds in a file. */
export function squawk(file: PlannedFile): readonly Finding[] {
  const { sql, lines } = sqlOf(file)
  const args = ['--reporter', 'json', '--pg-version', '15', '--exclude', OF_MODELS.join(',')]
  const { stdout, stderr, error } = spawnSync(program, args, { input: sql, encoding: 'utf8' })
  if (error || stdout === '') throw new Error(`squawk has failed: ${stderr}`, { cause: error })
  const found: readonly Reported[] = JSON.parse(stdout)
  return found.map(({ rule_name: rule, line, message }) => {
    const step = lines[line]
    return { rule, step, text: `${rule}: ${step?.code.sql ?? ''}: ${message}` }
  })
}

function blocksWriters({ note }: PlannedStep): boolean {
  return note.endsWith('nobody writes meanwhile')
}

/** What people have asked for by a flag, or is said in the note of the step. */
const ALLOWED: Readonly<Record<string, (step: PlannedStep, file: PlannedFile) => boolean>> = {
  'renaming-column': ({ what }) => what.startsWith('rename column'),
  'renaming-table': ({ what }) => what.startsWith('rename to'),
  'ban-drop-not-null': ({ what }) => what.startsWith('drop NOT NULL'),
  'ban-drop-column': ({ what }, { contract }) => contract || what.startsWith('compute '),
  'ban-drop-table': (_, { contract }) => contract,
  'changing-column-type': ({ what }) => what.startsWith('change '),
  // Validated twice, it is as valid as once; and so is what is filled.
  'prefer-robust-stmts': ({ code }) => code.kind === 'alone' && code.sql.includes('VALIDATE CONSTRAINT'),
  'adding-field-with-default': ({ note }) => note.startsWith('rewrites'),
  // Of partitioned tables, which take neither CONCURRENTLY nor NOT VALID.
  'require-concurrent-index-creation': blocksWriters,
  'constraint-missing-not-valid': blocksWriters,
  'adding-foreign-key-constraint': blocksWriters,
  'disallowed-unique-constraint': blocksWriters,
}

/** Asserts that squawk finds nothing in a file but what people have asked for. */
export function assertSafe(file: PlannedFile): void {
  const found = squawk(file).filter(({ rule, step }) => !(step && ALLOWED[rule]?.(step, file)))
  assert.deepEqual(
    found.map(({ text }) => text),
    [],
  )
}
