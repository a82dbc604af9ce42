// Statements of the reference structure that this document lacks, by the names that the comparison gives. A row without a difference fails.

/** Deliberate differences of the document, with the rules that state them. */
export const DELIBERATE: Readonly<Record<string, string>> = {
  // A template may supply the image, and a request without either is 400; a schema could only express 422.
  'request CreatePodRequest: condition': 'POD-5',
  'request CreateEndpointRequest: condition': 'END-3',
  // A template decides these where the body does not, so nothing is true of every create (DOC-10).
  'request CreatePodRequest.startJupyter: default': 'POD-11',
  'request CreatePodRequest.startSsh: default': 'POD-11',
  // The name may come from the template; type and scaling have defaults.
  'request CreateEndpointRequest.name: required': 'END-2',
  'request CreateEndpointRequest.scaling: required': 'END-2',
  'request CreateEndpointRequest.type: required': 'END-2',
  'request CreateEndpointRequest.timeout: default': 'END-7',
  // Refused beside REQUEST_COUNT, so no value could be sent always.
  'request CreateEndpointRequest.workers.idleTimeout: default': 'END-6',
  // Refused without `include`, so it has no default either: generated clients send documented defaults.
  'request GET /v2/catalog/gpus query count: default': 'DOC-10',
  'request GET /v2/catalog/gpus/{id} query count: default': 'DOC-10',
  // An update leaves omitted members unchanged.
  'request UpdateEndpointGpuConfig.count: default': 'STRICT-3',
  // A bare time is the older form; an id also has a counter after the time.
  'request GET /v2/pods/{id}/logs header Last-Event-ID: format': 'LOG-3',
  'request GET /v2/serverless/{id}/workers/{workerId}/logs header Last-Event-ID: format': 'LOG-3',
  // Templates, which are URLs only once the id of a job is inserted.
  'answer QueueBasedRequestUrls.status: format': 'DOC-10',
  'answer QueueBasedRequestUrls.stream: format': 'DOC-10',
  'answer QueueBasedRequestUrls.cancel: format': 'DOC-10',
  'answer QueueBasedRequestUrls.retry: format': 'DOC-10',
}
