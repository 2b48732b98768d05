/** The value of an environment variable, whose name may have any letter case. */
export function variable(name: string): string | undefined {
  const exact = process.env[name]
  if (exact !== undefined) return exact
  const key = variableNames().find((other) => other.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : process.env[key]
}

/** The names of all environment variables that are set. */
export function variableNames(): string[] {
  return Object.keys(process.env)
}
