CREATE TABLE `capacity_waiters` (
	`endpoint_id` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL,
	FOREIGN KEY (`endpoint_id`) REFERENCES `endpoints`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `capacity_waiters_since` ON `capacity_waiters` (`since`);