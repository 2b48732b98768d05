import { BootError } from '../../core/boot-error.js'
import type { JsonSchema, Named, Direction } from '../shape/shape.js'

interface Owner {
  readonly origin: unknown
  /** Which way it goes, where its origin says different things of the two. */
  readonly direction: Direction | undefined
}

const SUFFIX = { input: 'Input', output: 'Output' } as const

/** The named schemas of a document, and whose each name is. */
export class Components {
  readonly schemas = new Map<string, JsonSchema>()
  readonly #owners = new Map<string, Owner>()

  /**
   * The name of the component of a class, which is written when it is first asked for.
   *
   * @throws BootError when another class has the name.
   */
  ofClass({ name, origin }: Named, direction: Direction | undefined, write: () => JsonSchema): string {
    const plain = allowed(name)
    const names = direction ? [plain, plain + SUFFIX[direction]] : [plain]
    const own = names.find((candidate) => this.#isFreeFor(candidate, { origin, direction }))
    const taken = names.find((candidate) => this.#owners.get(candidate)?.origin !== origin)
    if (own === undefined || (taken !== undefined && names.indexOf(taken) < names.indexOf(own)))
      throw new BootError(
        `Two different classes are named ${taken ?? plain}, and a schema component can stand for only one. Rename one, or name it: dto(Source, { name: '...' }).`,
      )
    return this.#write(own, { origin, direction }, write)
  }

  /** The name of a definition of another library, which names some of them alike in two schemas: '__schema0'. */
  ofDefinition({ name, origin }: Named, direction: Direction, write: () => JsonSchema): string {
    const plain = allowed(name)
    const owner = { origin, direction: undefined }
    const names = [plain, plain + SUFFIX[direction]]
    while (!names.some((candidate) => this.#isFreeFor(candidate, owner)))
      names.push(`${plain}${SUFFIX[direction]}${names.length}`)
    return this.#write(names.find((candidate) => this.#isFreeFor(candidate, owner)) as string, owner, write)
  }

  #isFreeFor(name: string, { origin, direction }: Owner): boolean {
    const owner = this.#owners.get(name)
    return !owner || (owner.origin === origin && owner.direction === direction)
  }

  #write(name: string, owner: Owner, write: () => JsonSchema): string {
    if (this.#owners.has(name)) return name
    this.#owners.set(name, owner)
    this.schemas.set(name, {}) // taken before it is written: it may refer to itself
    this.schemas.set(name, write())
    return name
  }
}

// OpenAPI allows no other characters; a class may be called Größe.
function allowed(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
}
