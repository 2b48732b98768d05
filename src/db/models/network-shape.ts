import { isIP } from 'node:net'
import type { Check } from '../../schema/shape/check.js'
import type { Shape } from '../../schema/shape/shape.js'

const BASE = { kind: 'string' } as const
const WITH_MASK = '^[0-9A-Fa-f:.]+/[0-9]{1,3}$'

/** An IP address, optionally with the mask of its network: '10.0.0.1', '10.0.0.1/8', '::1'. */
export const INET: Shape = {
  ...BASE,
  openApiSchema: { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }, { pattern: WITH_MASK }] },
  customValidation: {
    base: BASE,
    checks: [stringCheck(isAddress, 'must be an IP address, such as 10.0.0.1, 10.0.0.1/8 or ::1')],
  },
}

/** An IP network: '10.0.0.0/8'. */
export const CIDR: Shape = {
  ...BASE,
  openApiSchema: { type: 'string', pattern: WITH_MASK },
  customValidation: {
    base: BASE,
    checks: [stringCheck((text) => text.includes('/') && isAddress(text), 'must be a network, such as 10.0.0.0/8')],
  },
}

const SIX_PAIRS = /^[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})$/

/** A MAC address, with colons or hyphens. PostgreSQL returns it with colons. */
export const MACADDR: Shape = {
  ...BASE,
  pattern: SIX_PAIRS.source,
  customValidation: {
    base: BASE,
    checks: [stringCheck((text) => SIX_PAIRS.test(text), 'must be a MAC address, such as 08:00:2b:01:02:03')],
  },
}

function isAddress(text: string): boolean {
  const [address = '', mask, ...rest] = text.split('/')
  const version = address.includes('%') ? 0 : isIP(address) // PostgreSQL accepts no zone, as in 'fe80::1%eth0'
  const isMask = mask === undefined || (/^\d{1,3}$/.test(mask) && Number(mask) <= (version === 4 ? 32 : 128))
  return version > 0 && isMask && rest.length === 0
}

function stringCheck(accepts: (text: string) => boolean, message: string): Check {
  return { accepts: (json) => typeof json !== 'string' || accepts(json), message }
}
