/** Names that occur in several logs, so that one incident can be followed through them. */
export const STORAGES = ['10.8.0.31:2891', '10.8.0.32:2891', '10.8.0.33:2891'] as const;

export const CLIENTS = ['10.8.0.5', '10.8.0.9', '10.8.1.14', '10.8.1.77'] as const;

export const DATABASES = ['shop', 'billing', 'sensors', '_internal'] as const;

export const METRICS = ['cpu.load', 'orders.total', 'http.requests', 'room.temperature', 'disk.used'] as const;
