export const SERVICE_NAME = 'porthole.v1.NodeStateService';
