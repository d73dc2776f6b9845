// BitstreamInspection
