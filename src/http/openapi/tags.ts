/** Tags of REST v2. Each operation of the document has one of them. */
export const REST_TAGS = [
  { name: 'Pods', description: 'Containers on machines with GPUs or CPUs, each for as long as its owner wants.' },
  { name: 'Clusters', description: 'Pods that are placed together and share a private network.' },
  { name: 'Serverless', description: 'Endpoints: workers that are started for the work there is, and ended after it.' },
  { name: 'Jobs', description: 'The work of an endpoint: submit, wait for, cancel and explain it.' },
  { name: 'Webhooks', description: 'Messages about jobs that have ended: their signing secret and their deliveries.' },
  { name: 'Templates', description: 'Container configurations that pods and endpoints are made from.' },
  { name: 'Volumes', description: 'Storage that outlives pods: of one data center, or of all.' },
  { name: 'Registries', description: 'How images that are not public are pulled: credentials and delegations.' },
  { name: 'Catalog', description: 'What can be had, where, and at what price.' },
  { name: 'Billing', description: 'What was used, and what it costs.' },
  { name: 'Account', description: 'Keys, secrets, limits and the audit log of the account.' },
  { name: 'Organizations', description: 'Accounts of several people, and their roles.' },
]

export const ADMIN_TAGS = [
  { name: 'Accounts', description: 'Users, their keys, quotas and budgets.' },
  { name: 'Plans', description: 'Limits that accounts have in common.' },
  { name: 'Hosts', description: 'Machines, and the tokens with which they join.' },
  { name: 'Volumes', description: 'What is left of volumes that were deleted.' },
  { name: 'Catalog', description: 'What the plane offers, where, and at what price.' },
  { name: 'Audit', description: 'Who changed what.' },
  { name: 'Secrets', description: 'What the plane keeps sealed.' },
  { name: 'Plane', description: 'How the plane itself is.' },
]
