export { File, type FileFieldOptions } from './uploads/file-field.js'
export { Multipart, type MultipartOptions } from './uploads/multipart.js'
export { type SaveOptions, UploadedFile } from './uploads/uploaded-file.js'
