import { BootError } from '../../core/boot-error.js'
import { missingMembers, type RequiredMembers } from '../sequelize/required-members.js'

/** A driver, and every member of it that is used directly, not through Sequelize. */
export interface Driver<Source> {
  /** The package: 'pg'. */
  readonly name: string
  /** The versions that have these members, as in package.json: '^8.23.1'. */
  readonly versions: string
  readonly required: readonly RequiredMembers<Source>[]
}

/**
 * Checks that a driver has every member that is required of it. Without this check, a missing member would fail during a request.
 *
 * @param source the driver's library, or one of its connections.
 * @throws BootError that names each missing member.
 */
export function checkDriver<Source>({ name, versions, required }: Driver<Source>, source: Source): void {
  const missing = missingMembers(required, source)
  if (missing.length === 0) return
  throw new BootError(
    `This version of Sequitur works with ${name} ${versions}: ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing in the installed one. ` +
      `Install ${name}@${versions}, or a version of sequitur that supports the installed ${name}.`,
  )
}
