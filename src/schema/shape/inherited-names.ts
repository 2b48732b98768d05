const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Whether every object inherits a property of this name, such as 'toString'. */
export function isInherited(name: string): boolean {
  return INHERITED.has(name)
}

/** The value of a property. `inherited` is the result of {@link isInherited} for its name: then only an own property counts. */
export function valueOf(source: Readonly<Record<string, unknown>>, name: string, inherited: boolean): unknown {
  return inherited && !Object.hasOwn(source, name) ? undefined : source[name]
}
