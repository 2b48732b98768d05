import type { OperationObject, PathItemObject, ResponseObject } from 'openapi3-ts/oas31'
import type { HealthBody } from '../health/health.js'
import type { HealthSettings } from '../health/health-options.js'
import { jsonContent, type DocumentedProblems } from './responses.js'

export const HEALTH_TAG = { name: 'Health', description: 'Whether the process serves, and whether it takes requests' }

/** The paths of the health checks, if they are documented. */
export function healthPaths(
  settings: HealthSettings | undefined,
  problems: DocumentedProblems,
): Readonly<Record<string, PathItemObject>> {
  if (!settings?.documented) return {}
  const live = operation('livez', 'Whether the process serves', problems, {
    200: health('The process serves', ['ok']),
  })
  const ready = operation('readyz', 'Whether the app takes requests', problems, {
    200: health('The app takes requests', ['ok']),
    503: health('The app is closing, or something that it needs cannot be reached', ['unavailable', 'closing']),
  })
  return { [settings.livez]: { get: live }, [settings.readyz]: { get: ready } }
}

function operation(
  operationId: string,
  summary: string,
  { response }: DocumentedProblems,
  responses: Readonly<Record<number, ResponseObject>>,
): OperationObject {
  return {
    operationId,
    tags: [HEALTH_TAG.name],
    summary,
    responses: { ...responses, '4XX': response('The request is refused'), default: response('Any other error') },
  }
}

function health(description: string, statuses: readonly HealthBody['status'][]): ResponseObject {
  return {
    description,
    content: jsonContent({
      type: 'object',
      properties: {
        status: { type: 'string', enum: statuses },
        checks: {
          type: 'object',
          description: 'The result of each check, by the name of the database or the check.',
          additionalProperties: { type: 'string', enum: ['ok', 'failed'] },
        },
      },
      required: ['status'],
    }),
  }
}
