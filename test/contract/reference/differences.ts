// What the reference structure says and this document does not, by the names that the comparison gives. A row that no longer differs fails.

/** Where the document differs on purpose, with the rules that say so. */
export const DELIBERATE: Readonly<Record<string, string>> = {
  // A template may supply the image, and what lacks both is 400; a schema could only say 422.
  'request CreatePodRequest: condition': 'POD-5',
  'request CreateEndpointRequest: condition': 'END-3',
  // A template decides these where the body does not, so nothing is true of every create (PP-122).
  'request CreatePodRequest.startJupyter: default': 'POD-11',
  'request CreatePodRequest.startSsh: default': 'POD-11',
  // The name may come from the template; type and scaling have defaults.
  'request CreateEndpointRequest.name: required': 'END-2',
  'request CreateEndpointRequest.scaling: required': 'END-2',
  'request CreateEndpointRequest.type: required': 'END-2',
  'request CreateEndpointRequest.timeout: default': 'END-7',
  // Refused beside REQUEST_COUNT, so no value could be sent always.
  'request CreateEndpointRequest.workers.idleTimeout: default': 'END-6',
  // Refused without `include`, so neither could this: generated clients send what is documented as a default.
  'request GET /v2/catalog/gpus query count: default': 'PP-122',
  'request GET /v2/catalog/gpus/{id} query count: default': 'PP-122',
  // What an update leaves out stays as it is.
  'request UpdateEndpointGpuConfig.count: default': 'STRICT-3',
  // A bare time is the older form; an id of today has a counter behind it.
  'request GET /v2/pods/{id}/logs header Last-Event-ID: format': 'LOG-3',
  'request GET /v2/serverless/{id}/workers/{workerId}/logs header Last-Event-ID: format': 'LOG-3',
  // No URLs until the id of a job stands in them.
  'answer QueueBasedRequestUrls.status: format': 'PP-122',
  'answer QueueBasedRequestUrls.stream: format': 'PP-122',
  'answer QueueBasedRequestUrls.cancel: format': 'PP-122',
  'answer QueueBasedRequestUrls.retry: format': 'PP-122',
}
