/** What is wrong with a value of the program, such as a column; of the whole when no field is named. */
export interface FieldIssue {
  readonly field: string | undefined
  readonly message: string
}

/** The answer to an error that is not an HttpError, such as one of the database: a status and a sentence for the client. */
export interface ErrorStatus {
  readonly status: number
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>>
  /** What is wrong with values whose origin is not known: the client is shown those that it sent, with their places. */
  readonly fields?: readonly FieldIssue[]
}

/** The status of an error; undefined for those that are not known. */
export type FindErrorStatus = (error: unknown) => ErrorStatus | undefined
