/** A mistake in one field of a record, such as a column; with the whole record when no field is named. */
export interface FieldIssue {
  readonly field: string | undefined
  readonly message: string
  /** Which kind of constraint is violated. */
  readonly rule?: 'unique' | 'foreignKey' | 'required' | 'check'
}

/** The response to an error that is not an HttpError, such as one of the database: a status, and a sentence for the client. */
export interface ErrorStatus {
  readonly status: number
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>>
  /** Fields that caused the error. The client sees only those that it sent, with their place in the request. */
  readonly fields?: readonly FieldIssue[]
  /** The sentence that names inputs of the client, if some of the fields are among them. */
  readonly detailOf?: (inputs: readonly string[]) => string
}

/** The status of an error; undefined for an unknown one. */
export type FindErrorStatus = (error: unknown) => ErrorStatus | undefined
