import type { Attributes } from '@opentelemetry/api'

/** Without the attributes that are undefined: those of metrics would be exported, some as the string `undefined`. */
export function defined(attributes: Attributes): Attributes {
  const kept: Attributes = {}
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) kept[name] = value
  return kept
}
