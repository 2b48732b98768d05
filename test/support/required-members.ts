/** What a member must be: its `typeof`; `'object'` also accepts a function, `'any'` accepts every value, also null. */
export type MemberKind = 'function' | 'object' | 'boolean' | 'number' | 'string' | 'any'

/** The members that are required of an object of another package. `Source` is what the object is read from. */
export interface RequiredMembers<Source> {
  /** The object's name in messages: `Query.prototype`. */
  readonly owner: string
  readonly of: (source: Source) => unknown
  readonly members: Readonly<Record<string, MemberKind>>
}

/** The required members that do not exist, or are of another kind: `['Query.prototype.run']`. */
export function missingMembers<Source>(required: readonly RequiredMembers<Source>[], source: Source): string[] {
  return required.flatMap(({ owner, of, members }) => {
    const object = readOwner(of, source)
    return Object.entries(members).flatMap(([name, kind]) => (hasMember(object, name, kind) ? [] : `${owner}.${name}`))
  })
}

// An exception means that another required member is missing: one that leads to this object.
function readOwner<Source>(of: (source: Source) => unknown, source: Source): unknown {
  try {
    return of(source)
  } catch {
    return undefined
  }
}

function hasMember(owner: unknown, name: string, kind: MemberKind): boolean {
  if ((typeof owner !== 'object' && typeof owner !== 'function') || owner === null) return false
  const member: unknown = Reflect.get(owner, name)
  if (kind === 'any') return member !== undefined
  return member !== null && (typeof member === kind || (kind === 'object' && typeof member === 'function'))
}
